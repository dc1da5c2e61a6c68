import { Box, Text as InkText, Transform } from 'ink';
import type { ReactNode } from 'react';
import { wrapWithin } from '../../text/wrap.js';
import { lookCarrier } from '../surface/ink-tree.js';
import { type Background, type Line, type Tone, tones } from '../surface/span.js';

type TextProps = {
  readonly tone?: Tone;
  /** Default: the background of the surrounding box. */
  readonly ground?: Background;
  readonly children?: ReactNode;
};

/**
 * Text in a tone, which the theme translates into a look. Can be nested in another text. Text that does not fit is cut with an
 * ellipsis; for several rows see `Paragraph`.
 */
export function Text({ tone = 'plain', ground, children }: TextProps) {
  return (
    <InkText wrap="truncate">
      <Transform transform={carrierOf(tone, ground)}>{children}</Transform>
    </InkText>
  );
}

/** A computed line as one text. */
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

/** Text on as many rows as it needs, at most `rows` of `width` columns, wrapped by the rules of the rest of the window. */
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

/** Returns the same function for the same look, so that React sees no change. */
function carrierOf(tone: Tone, ground: Background | undefined): (text: string) => string {
  const key = `${tones.indexOf(tone)} ${ground ?? ''}`;
  let carrier = carriers.get(key);
  if (carrier === undefined) carriers.set(key, (carrier = lookCarrier(tone, ground)));
  return carrier;
}
