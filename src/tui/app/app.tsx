import { Box } from 'ink';
import { type ComponentType, useSyncExternalStore } from 'react';
import { moduleOf } from '../dialogs/key-stack.js';
import { useModel } from '../model/use-model.js';
import { screens } from '../screens/registry.js';
import type { ScreenProps } from '../screens/screen.js';
import { useSurface } from '../surface/canvas.js';
import type { Size } from '../surface/surface.js';
import { Text } from '../widgets/text.js';
import { Footer, ShortFooter } from './footer.js';
import { Header, ShortHeader } from './header.js';
import { bodyOf, isSmall, isTooSmall, least } from './layout.js';

const components: Record<string, ComponentType<ScreenProps>> = {};

/** Loads all components at once, so that none has to be awaited when it is shown. */
export async function loadScreens(): Promise<void> {
  const all = Object.entries(screens);
  await Promise.all(all.map(async ([kind, { component }]) => void (components[kind] = await component())));
}

/** The window: a header, a screen, a footer, and the open dialog above them. */
export function App() {
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
