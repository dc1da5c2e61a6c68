import { Box } from 'ink';
import type { ReactNode } from 'react';
import type { Tone } from '../surface/span.js';
import { Text } from './text.js';

type Props = {
  readonly name: string;
  readonly tone?: Tone;
  /** Columns of the names, with the space after the longest. */
  readonly nameWidth: number;
  readonly children: ReactNode;
};

/** A name, and beside it its value on any number of rows. */
export function KeyValue({ name, tone = 'dim', nameWidth, children }: Props) {
  return (
    <Box flexShrink={0}>
      <Box width={nameWidth} flexShrink={0}>
        <Text tone={tone}>{name}</Text>
      </Box>
      <Box flexDirection="column" flexGrow={1}>
        {children}
      </Box>
    </Box>
  );
}
