import { Box } from 'ink';
import { type ComponentType, useSyncExternalStore } from 'react';
import { OpenDialog } from '../dialogs/open-dialog.js';
import { useModel } from '../model/use-model.js';
import { CompareScreen } from '../screens/compare/compare-screen.js';
import { GpuScreen } from '../screens/gpus/gpu-screen.js';
import { JobsScreen } from '../screens/jobs/jobs-screen.js';
import { RunScreen } from '../screens/run/run-screen.js';
import type { ScreenProps } from '../screens/screen-props.js';
import { SweepScreen } from '../screens/sweep/sweep-screen.js';
import type { Screen } from '../state/ui-state.js';
import { useSurface } from '../surface/canvas.js';
import type { Size } from '../surface/surface.js';
import { Text } from '../widgets/text.js';
import { Footer, ShortFooter } from './footer.js';
import { Header, ShortHeader } from './header.js';
import { bodyOf, isSmall, isTooSmall, least } from './layout.js';

const screens: Record<Screen['kind'], ComponentType<ScreenProps>> = {
  jobs: JobsScreen,
  open: RunScreen,
  compare: CompareScreen,
  gpus: GpuScreen,
  sweep: SweepScreen,
};

/** The window: a header, a screen, a footer, and over them the dialog that is open. */
export function App() {
  const surface = useSurface();
  const size = useSyncExternalStore(surface.onResize, surface.size);
  const shown = useModel((model) => model.ui.screen.kind);
  if (isTooSmall(size)) return <TooSmall {...size} />;
  const small = isSmall(size);
  const ShownScreen = screens[shown];
  return (
    <Box {...size} flexDirection="column">
      {small ? <ShortHeader width={size.width} /> : <Header width={size.width} />}
      <ShownScreen size={bodyOf(size)} isSmall={small} />
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
