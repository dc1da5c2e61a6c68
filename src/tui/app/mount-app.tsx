import { ModelContext } from '../model/use-model.js';
import { mountWindow, type MountedWindow } from '../surface/mount-window.js';
import type { Surface } from '../surface/surface.js';
import { App } from './app.js';
import { press } from './key-handlers.js';
import type { WindowStore } from './window-store.js';

type Parts = {
  readonly store: WindowStore;
  readonly surface: Surface;
  /** Called when a component throws. */
  readonly onError: (error: unknown) => void;
};

/**
 * The part of the window that needs Ink and React: drawing, and keys, since a dialog has both in one file. A separate file, so that
 * it is loaded after the first picture.
 */
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
