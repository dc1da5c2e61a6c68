import { KeyContextSource } from '../keys/use-key-context.js';
import { ModelContext } from '../model/use-model.js';
import { mountWindow, type MountedWindow } from '../surface/mount-window.js';
import type { Surface } from '../surface/surface.js';
import { App, loadScreens } from './app.js';
import { press } from '../dialogs/key-stack.js';
import type { WindowStore } from './window-store.js';

export { loadScreens };

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
  const window = mountWindow(
    <ModelContext value={store}>
      <KeyContextSource value={store.context}>
        <App />
      </KeyContextSource>
    </ModelContext>,
    surface,
    onError,
  );
  store.listen(press, window.flush, surface.hurry);
  return window;
}
