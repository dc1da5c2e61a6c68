import { Box, Text as InkText, Transform } from 'ink';
import type { ReactNode } from 'react';
import { wrapWithin } from '../../text/wrap.js';
import { lookCarrier } from '../surface/ink-tree.js';
import { type Background, type Line, type Tone, tones } from '../surface/span.js';

type TextProps = {
  readonly tone?: Tone;
  /** Without one, that of the box around it. */
  readonly ground?: Background;
  readonly children?: ReactNode;
};

/**
 * Words with a meaning; the theme says what that looks like. May stand in another text. What does not fit is cut with an
 * ellipsis; for more than one row see `Paragraph`.
 */
export function Text({ tone = 'plain', ground, children }: TextProps) {
  return (
    <InkText wrap="truncate">
      <Transform transform={carrierOf(tone, ground)}>{children}</Transform>
    </InkText>
  );
}

/** A line that was computed, as one text. */
export function Spans({ line }: { readonly line: Line }) {
  return (
    <InkText wrap="truncate">
      {line.map(({ text, tone, ground }, index) => (
        <Transform key={index} transform={carrierOf(tone, ground)}>
          {text}
        </Transform>
      ))}
    </InkText>
  );
}

type ParagraphProps = TextProps & { readonly children: string; readonly width: number; readonly rows?: number };

/** Words on as many rows as they need, at most `rows` of `width` columns, broken where the rest of the window breaks them. */
export function Paragraph({ children, width, rows = 100, ...look }: ParagraphProps) {
  return (
    <Box flexDirection="column">
      {wrapWithin(children, width, rows).map((row, index) => (
        <Text key={index} {...look}>
          {row}
        </Text>
      ))}
    </Box>
  );
}

const carriers = new Map<string, (text: string) => string>();

/** The same function for the same look, so that React finds nothing changed. */
function carrierOf(tone: Tone, ground: Background | undefined): (text: string) => string {
  const key = `${tones.indexOf(tone)} ${ground ?? ''}`;
  let carrier = carriers.get(key);
  if (carrier === undefined) carriers.set(key, (carrier = lookCarrier(tone, ground)));
  return carrier;
}
