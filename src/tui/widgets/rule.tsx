import { Box } from 'ink';
import { Text } from './text.js';

/** A vertical line between two panes, with a column of room on each side. */
export function Rule({ height }: { readonly height: number }) {
  return (
    <Box flexDirection="column" width={3} flexShrink={0}>
      {Array.from({ length: height }, (_, row) => (
        <Text key={row} tone="faint">
          {' │ '}
        </Text>
      ))}
    </Box>
  );
}
