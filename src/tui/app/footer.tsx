import { Box } from 'ink';
import { useCallback } from 'react';
import { LiveLine, useModel, useModelSource } from '../model/use-model.js';
import type { OnPoint } from '../surface/surface.js';
import { keyHintAt } from './key-hint.js';
import { keysLine, messageLine } from './footer-lines.js';

/** The last message and the keys, which change with nearly every key press. */
export function Footer({ width }: { readonly width: number }) {
  return (
    <Box flexDirection="column" width={width} height={2} flexShrink={0}>
      <LiveLine width={width} read={messageLine} />
      <Keys width={width} />
    </Box>
  );
}

/** One row for a small screen: the message if there is one, otherwise the keys. */
export function ShortFooter({ width }: { readonly width: number }) {
  const hasMessage = useModel(({ ui }) => ui.note !== null);
  return hasMessage ? <LiveLine width={width} read={messageLine} /> : <Keys width={width} />;
}

/** Key hints; a click on one presses its key. */
function Keys({ width }: { readonly width: number }) {
  const source = useModelSource();
  const point = useCallback<OnPoint>(
    ({ kind, column }) => {
      if (kind !== 'click') return source.turn(kind);
      const model = source.model();
      const key = keyHintAt(keysLine(model, width), column, model.ui.keys);
      if (key !== null) source.press(key);
    },
    [source, width],
  );
  return <LiveLine width={width} read={keysLine} onPoint={point} />;
}
