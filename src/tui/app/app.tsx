import { Box } from 'ink';
import { useCallback, useSyncExternalStore } from 'react';
import { OpenDialog } from '../dialogs/open-dialog.js';
import { useModel, useModelSource } from '../model/use-model.js';
import { screens } from '../screens/registry.js';
import { useSurface } from '../surface/canvas.js';
import type { Size } from '../surface/surface.js';
import { Text } from '../widgets/text.js';
import { Footer, ShortFooter } from './footer.js';
import { Header, ShortHeader } from './header.js';
import { bodyOf, isSmall, isTooSmall, least } from './layout.js';

/** Loads all components at once, so that none has to be awaited when it is shown. */
const components = Object.fromEntries(
  await Promise.all(Object.entries(screens).map(async ([kind, { component }]) => [kind, await component()] as const)),
);

/** The window: a header, a screen, a footer, and the open dialog above them. */
export function App() {
  const source = useModelSource();
  const surface = useSurface();
  const size = useSyncExternalStore(surface.onResize, surface.size);
  const shown = useModel((model) => model.ui.screen.kind);
  const read = useCallback(() => source.screenData(shown), [source, shown]);
  if (isTooSmall(size)) return <TooSmall {...size} />;
  const small = isSmall(size);
  const Screen = components[shown]!;
  return (
    <Box {...size} flexDirection="column">
      {small ? <ShortHeader width={size.width} /> : <Header width={size.width} />}
      <Screen size={bodyOf(size)} isSmall={small} read={read} />
      {small ? <ShortFooter width={size.width} /> : <Footer width={size.width} />}
      <OpenDialog size={size} isSmall={small} />
    </Box>
  );
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
