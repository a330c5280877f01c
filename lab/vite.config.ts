import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

// One file: the page works from the disk, from a server, in a frame of the documentation and in a notebook alike.
export default defineConfig({
  base: "./",
  resolve: {
    alias: {
      "#engine": fileURLToPath(new URL("../build/lab/pkg", import.meta.url)),
      "#scenarios": fileURLToPath(new URL("../python/headgate/scenarios", import.meta.url)),
    },
  },
  worker: { format: "iife" },
  server: { fs: { allow: [".."] } },
  build: { outDir: "../build/lab/page", emptyOutDir: true, assetsInlineLimit: 100_000_000, chunkSizeWarningLimit: 8000 },
  plugins: [viteSingleFile()],
});
