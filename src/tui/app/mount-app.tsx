import { Box } from 'ink';
import { type ComponentType, useCallback, useSyncExternalStore } from 'react';
import { textWidth } from '../../text/display-width.js';
import { dialogHints, moduleOf, press } from '../dialogs/key-stack.js';
import { KeyContextSource } from '../dialogs/dialog-module.js';
import { LiveLine, ModelContext, useModel, useModelSource } from '../model/use-model.js';
import type { WindowModel } from '../model/window-model.js';
import { keyMapOf } from '../screens/key-map.js';
import { screens } from '../screens/registry.js';
import type { ScreenProps } from '../screens/screen.js';
import type { KeyMapping } from '../state/preferences-port.js';
import { type MountedWindow, mountWindow, useSurface } from '../surface/ink-window.js';
import { fitLine, type Line } from '../surface/span.js';
import type { OnPoint, Size, Surface } from '../surface/surface.js';
import { fittingHints, hintLine } from '../widgets/line-parts.js';
import { Text } from '../widgets/text.js';
import { bodyOf, headerLines, isSmall, isTooSmall, least, messageLine, screenKeysLine, shortHeader } from './frame.js';
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

const components: Record<string, ComponentType<ScreenProps>> = {};

/** Loads all components at once, so that none has to be awaited when it is shown. */
export async function loadScreens(): Promise<void> {
  const all = Object.entries(screens);
  await Promise.all(all.map(async ([kind, { component }]) => void (components[kind] = await component())));
}

/** The window: a header, a screen, a footer, and the open dialog above them. */
function App() {
  const surface = useSurface();
  const size = useSyncExternalStore(surface.onResize, surface.size);
  const shown = useModel((model) => model.ui.screen.kind);
  if (isTooSmall(size)) return <TooSmall {...size} />;
  const small = isSmall(size);
  const Screen = components[shown]!;
  return (
    <Box {...size} flexDirection="column">
      {small ? <ShortHeader width={size.width} /> : <Header width={size.width} />}
      <Screen size={bodyOf(size)} isSmall={small} />
      {small ? <ShortFooter width={size.width} /> : <Footer width={size.width} />}
      <OpenDialog size={size} isSmall={small} />
    </Box>
  );
}

type DialogProps = { readonly size: Size; readonly isSmall: boolean };

/** The open dialog, if there is one. */
function OpenDialog({ size, isSmall }: DialogProps) {
  const dialog = useModel((model) => model.ui.dialog);
  if (dialog.kind === 'none') return null;
  const { Dialog } = moduleOf(dialog);
  return <Dialog key={dialog.kind} {...{ dialog, size, isSmall }} />;
}

function TooSmall({ width, height }: Size) {
  return (
    <Box width={width} height={height} flexDirection="column">
      <Text tone="warn">
        {width}×{height} is too small:
      </Text>
      <Text tone="warn">
        the minimum is {least.width}×{least.height}.
      </Text>
      <Text tone="warn">q detaches; runs keep running.</Text>
    </Box>
  );
}

/** All rows of the header are painted without a commit, because each publication changes them. */
function Header({ width }: { readonly width: number }) {
  return (
    <Box flexDirection="column" width={width} height={headerLines.length} flexShrink={0}>
      {headerLines.map((read) => (
        <LiveLine key={read.name} width={width} read={read} />
      ))}
    </Box>
  );
}

/** One row for a small screen. */
function ShortHeader({ width }: { readonly width: number }) {
  return <LiveLine width={width} read={shortHeader} />;
}

/** The last message and the keys, which change with nearly every key press. */
function Footer({ width }: { readonly width: number }) {
  return (
    <Box flexDirection="column" width={width} height={2} flexShrink={0}>
      <LiveLine width={width} read={messageLine} />
      <Keys width={width} />
    </Box>
  );
}

/** One row for a small screen: the message if there is one, otherwise the keys. */
function ShortFooter({ width }: { readonly width: number }) {
  const hasMessage = useModel(({ ui }) => ui.note !== null);
  return hasMessage ? <LiveLine width={width} read={messageLine} /> : <Keys width={width} />;
}

/** Key hints; a click on one presses its key. */
function Keys({ width }: { readonly width: number }) {
  const source = useModelSource();
  const point = useCallback<OnPoint>(
    ({ column }) => {
      const model = source.model();
      const key = keyHintAt(keysLine(model, width), column, model.ui.keys);
      if (key !== null) source.press(key);
    },
    [source, width],
  );
  return <LiveLine width={width} read={keysLine} onPoint={point} />;
}

/** The key of the hint at a column. A hint is a span in the tone of keys, followed by its word. */
function keyHintAt(line: Line, column: number, keys: KeyMapping): string | null {
  let end = 0;
  let key: string | null = null;
  for (const { text, tone } of line) {
    end += textWidth(text);
    if (tone === 'key') key = text.trim();
    if (column < end) return key === null || tone === 'plain' ? null : nameOfShown(key, keys);
  }
  return null;
}

/** The key for a shown name; null for a hint that stands for several keys (`↑↓`). */
function nameOfShown(shown: string, keys: KeyMapping): string | null {
  const row = keyMapOf(keys).find((binding) => binding.shown === shown);
  // The digits are one row.
  if (row !== undefined) return row.command === 'jump' ? null : row.keys[0]!;
  return /^[!-~]$/.test(shown) ? shown : shown.startsWith('Ctrl-') ? shown.toLowerCase() : null;
}

/** The keys of the open dialog or of the shown screen. */
export function keysLine(model: WindowModel, width: number): Line {
  const inDialog = dialogHints(model);
  if (inDialog !== null) return fitLine(hintLine(fittingHints(inDialog, width)), width);
  return screenKeysLine(model, width);
}
