declare module "*.wasm?url&inline" {
  const address: string;
  export default address;
}
