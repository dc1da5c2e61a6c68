import { press } from '../../src/tui/dialogs/key-stack.js';
import { loadScreens, mountApp } from '../../src/tui/app/mount-app.js';
import { WindowStore } from '../../src/tui/app/window-store.js';
import type { RunFilesPort, SummaryPort } from '../../src/tui/state/port.js';
import type { MountedWindow } from '../../src/tui/surface/ink-window.js';
import { Surface } from '../../src/tui/surface/surface.js';
import { themeFor } from '../../src/tui/surface/theme.js';
import { type Line, plainText } from '../../src/tui/surface/span.js';
import type { SimulatedFleet } from './simulated-fleet.js';

await loadScreens();

/** A window on a simulated fleet. @param now Unix ms; the clock stands still unless it is a function. */
export function aWindow(
  { fleet, files, now }: { fleet: SimulatedFleet; files: RunFilesPort; now: number | (() => number) },
  options: { sweep?: string | null; summary?: SummaryPort; orders?: string[] } = {},
): WindowStore {
  const perform = ({ type }: { type: string }): void => void options.orders?.push(type);
  const { summary } = options;
  const ports = {
    fleet,
    files,
    now: typeof now === 'number' ? () => now : now,
    summary: summary && (() => summary),
    perform,
  };
  const store = new WindowStore(ports, options.sweep === undefined ? 'abcd' : options.sweep);
  store.listen(press);
  return store;
}

type Shown = { readonly surface: Surface; readonly mounted: MountedWindow; failure: Error | undefined };
const shown = new WeakMap<WindowStore, Shown>();

/** What the window shows now: its components are mounted as in a terminal, laid out by Ink and painted into cells. */
export function frameOf(store: WindowStore): readonly Line[] {
  const window = shown.get(store) ?? mounted(store);
  const { surface } = window;
  const { width, height } = surface.size();
  // A surface that is told its size is written whole.
  if (width !== store.size.width || height !== store.size.height) surface.resize(store.size);
  window.mounted.flush();
  surface.frame();
  if (window.failure !== undefined) throw window.failure;
  return surface.picture.lines();
}

/** The screen as text. */
export function screenText(store: WindowStore): string[] {
  return frameOf(store).map((line) => plainText(line).trimEnd());
}

function mounted(store: WindowStore): Shown {
  const target = { write: () => true, writableLength: 0, once: () => undefined };
  const fail = (error: unknown): void => void (window.failure ??= error as Error);
  const surface = new Surface(target, themeFor({ colours: 256, ascii: false }), store.size, fail);
  const window: Shown = { surface, mounted: mountApp({ store, surface, onError: fail }), failure: undefined };
  shown.set(store, window);
  // The first commit takes the drawing over from Ink, the second has the components.
  window.mounted.flush();
  const close = store.close.bind(store);
  store.close = () => {
    window.mounted.unmount();
    close();
  };
  return window;
}
