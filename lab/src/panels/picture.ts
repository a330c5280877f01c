/** Saves the stages as one picture. */

import type { App } from "../app";
import { element } from "../dom";

const MARGIN = 16;
const TITLE = 28;

/** The stages beside each other, with their titles. */
export function pictureOf(app: App): HTMLCanvasElement {
  const stages = app.views.map((view) => view.canvas);
  const scale = window.devicePixelRatio || 1;
  const width = stages.reduce((sum, stage) => sum + stage.width + MARGIN * scale, MARGIN * scale);
  const height = Math.max(...stages.map((stage) => stage.height)) + (TITLE + 2 * MARGIN) * scale;
  const canvas = element("canvas");
  canvas.width = width;
  canvas.height = height;
  const pen = canvas.getContext("2d");
  if (!pen) return canvas;
  const style = getComputedStyle(document.documentElement);
  pen.fillStyle = style.getPropertyValue("--paper");
  pen.fillRect(0, 0, width, height);
  pen.fillStyle = style.getPropertyValue("--ink");
  pen.font = `${16 * scale}px system-ui, sans-serif`;
  let x = MARGIN * scale;
  app.views.forEach((view, at) => {
    const stage = stages[at] as HTMLCanvasElement;
    pen.fillText(`${view.discipline.title}, ${(app.now_ms / 1000).toFixed(1)} s`, x, (MARGIN + 16) * scale);
    pen.drawImage(stage, x, (TITLE + MARGIN) * scale);
    x += stage.width + MARGIN * scale;
  });
  return canvas;
}

export function savePicture(app: App): void {
  const link = element("a", { href: pictureOf(app).toDataURL("image/png"), download: `headgate-${app.settings.scenario}.png` });
  link.click();
}
