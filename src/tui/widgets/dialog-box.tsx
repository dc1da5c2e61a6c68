import { Box } from 'ink';
import type { ReactNode } from 'react';
import { cleanText } from '../../text/display-text.js';
import { textWidth } from '../../text/display-width.js';
import { type Background, columnsOf, type Line, lineWidth, span, type Tone } from '../surface/span.js';
import type { Size } from '../surface/surface.js';
import { Spans, Text } from './text.js';

type Props = {
  readonly title: string;
  /** Text typed to search in the dialog; shown in the frame. */
  readonly typed?: string;
  /** Size of the whole screen. */
  readonly screen: Size;
  /** Columns of the content, followed by its rows. */
  readonly width: number;
  readonly height: number;
  /** Rows and columns from the top left of the screen to the frame; default: the box is centred. */
  readonly top?: number;
  readonly left?: number;
  /** Amount of content that is not shown for lack of room. */
  readonly below?: number;
  readonly ground?: Background;
  readonly border?: Tone;
  readonly children: ReactNode;
};

/** A framed box above the screen, centred by default. */
export function DialogBox({ title, typed = '', screen, width, height, below = 0, ...look }: Props) {
  const { ground = 'raised', border = 'dim', children } = look;
  const left = look.left ?? Math.max(0, (screen.width - width - dialogFrame) >> 1);
  const top = look.top ?? Math.max(0, (screen.height - height - 2) >> 1);
  const heading = headingOf(title, typed, width);
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
        borderColor={border}
        backgroundColor={ground}
        paddingX={1}
      >
        {children}
      </Box>
      <Box position="absolute" marginLeft={left + 2} marginTop={top} width={lineWidth(heading)}>
        <Spans line={heading.map((each) => ({ ...each, ground }))} />
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

/** ` metric ` or ` metric › los▏ `; typed text is cut at its beginning. */
function headingOf(title: string, typed: string, width: number): Line {
  const words = ` ${cleanText(title)} `;
  if (typed === '') return columnsOf([span(words, 'title')], 0, Math.min(width, lineWidth([span(words)])));
  const field = [span(cleanText(typed), 'strong'), span('▏', 'accent')];
  const room = Math.max(1, width - lineWidth([span(words)]) - 3);
  const from = Math.max(0, lineWidth(field) - room);
  return columnsOf(
    [span(`${words}› `, 'title'), ...columnsOf(field, from, lineWidth(field)), span(' ')],
    0,
    Math.min(width, lineWidth([span(words)]) + 3 + lineWidth(field) - from),
  );
}

/** Columns of a dialog besides its content: the frame and a space on each side. */
export const dialogFrame = 4;

/** Columns of a dialog's content. A dialog that would leave only narrow strips beside it fills the screen. */
export function dialogWidth(wanted: number, screenWidth: number): number {
  return Math.max(0, wanted > screenWidth - 12 ? screenWidth - dialogFrame : wanted);
}

const least = 16;
const most = 40;

/** Columns for a list of names: those of the longest, within limits and within `room`. */
export function nameWidth(names: readonly string[], room: number): number {
  return Math.max(1, Math.min(most, room, Math.max(least, ...names.map(textWidth))));
}
