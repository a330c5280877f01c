// Browsers start no worker from a file, and Material's search is one. Where a page was opened from the disk, what would
// be a worker runs in a hidden frame of the page, which has the page's origin; messages go by hand.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.srcdoc = `<script src="${new URL(url, document.baseURI)}"></script>`;
      this.inside = new Promise((resolve) => {
        frame.addEventListener("load", () => {
          const inside = frame.contentWindow;
          inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
          resolve(inside);
        });
      });
      document.body.append(frame);
      this.terminate = () => frame.remove();
    }

    async postMessage(data) {
      const inside = await this.inside;
      inside.dispatchEvent(new inside.MessageEvent("message", { data }));
    }
  };
}
