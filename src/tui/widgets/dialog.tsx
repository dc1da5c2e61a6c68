import { Box } from 'ink';
import type { ReactNode } from 'react';
import type { Size } from '../surface/surface.js';
import type { Background } from './span.js';
import { dialogFrame } from './dialog-size.js';
import { Text } from './text.js';

type Props = {
  readonly title: string;
  /** Of the whole screen. */
  readonly screen: Size;
  /** Columns and rows of the content. */
  readonly width: number;
  readonly height: number;
  /** How much of the content is not shown because there is no room. */
  readonly below?: number;
  readonly ground?: Background;
  readonly children: ReactNode;
};

/** A framed box in the middle of the screen, over whatever is there. */
export function Dialog({ title, screen, width, height, below = 0, ground = 'raised', children }: Props) {
  const left = Math.max(0, (screen.width - width - dialogFrame) >> 1);
  const top = Math.max(0, (screen.height - height - 2) >> 1);
  return (
    <Box position="absolute" {...screen}>
      <Box
        position="absolute"
        marginLeft={left}
        marginTop={top}
        width={width + dialogFrame}
        height={height + 2}
        flexDirection="column"
        borderStyle="round"
        borderColor="dim"
        backgroundColor={ground}
        paddingX={1}
      >
        {children}
      </Box>
      <Box position="absolute" marginLeft={left + 2} marginTop={top} width={Math.min(title.length + 2, width)}>
        <Text tone="title" ground={ground}>{` ${title} `}</Text>
      </Box>
      {below > 0 && (
        <Box
          position="absolute"
          marginTop={top + height + 1}
          marginLeft={left}
          width={width + dialogFrame - 2}
          justifyContent="flex-end"
        >
          <Text tone="accent" ground={ground}>{` ${below} more ↓ `}</Text>
        </Box>
      )}
    </Box>
  );
}
