import type { ReactNode } from 'react';
import { ModelContext, type ModelSource } from '../../src/tui/model/use-model.js';
import { mountWindow } from '../../src/tui/surface/ink-window.js';
import { plainText, type Line } from '../../src/tui/surface/span.js';
import { Surface } from '../../src/tui/surface/surface.js';
import { themeFor } from '../../src/tui/surface/theme.js';

const target = { write: () => true, writableLength: 0, once: () => undefined };
/** Components that are drawn outside of a window get everything by their properties. */
const source = { laidOut: () => undefined } as unknown as ModelSource;

/** A component on a screen of this size, without a terminal: laid out by Ink, painted into cells. */
export function render(component: ReactNode, width: number, height: number): readonly Line[] {
  let failure: unknown;
  const fail = (error: unknown) => void (failure ??= error);
  const surface = new Surface(target, themeFor({ colours: 256, ascii: false }), { width, height }, fail);
  const window = mountWindow(<ModelContext value={source}>{component}</ModelContext>, surface, fail);
  window.flush();
  surface.frame();
  window.unmount();
  if (failure !== undefined) throw failure as Error;
  return surface.picture.lines();
}

/** The same as text, without what is empty below it. */
export function textOf(component: ReactNode, width: number, height: number): string[] {
  const rows = render(component, width, height).map((line) => plainText(line).trimEnd());
  return rows.slice(0, rows.findLastIndex((row) => row !== '') + 1);
}
