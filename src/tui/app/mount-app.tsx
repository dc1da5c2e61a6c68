import { ModelContext } from '../model/use-model.js';
import { mountWindow, type MountedWindow } from '../surface/mount-window.js';
import type { Surface } from '../surface/surface.js';
import { App } from './app.js';
import { press } from './key-handlers.js';
import type { WindowStore } from './window-store.js';

type Parts = {
  readonly store: WindowStore;
  readonly surface: Surface;
  /** Something broke in a component. */
  readonly onError: (error: unknown) => void;
};

/** All of the window that needs Ink and React: what is drawn, and what keys do, as a dialog has both in one file. A file of its own, so that it is loaded after the first picture. */
export function mountApp({ store, surface, onError }: Parts): MountedWindow {
  store.listen(press);
  return mountWindow(
    <ModelContext value={store}>
      <App />
    </ModelContext>,
    surface,
    onError,
  );
}
