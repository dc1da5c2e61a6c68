import { Box, Text as InkText, Transform } from 'ink';
import { createElement, memo, type ReactNode } from 'react';
import { wrapWithin } from '../../text/wrap.js';
import { lineCarrier, lookCarrier, textElement, textStyles } from '../surface/ink-tree.js';
import { areSame, type Background, type Line, plainText, type Tone, tones } from '../surface/span.js';
import { inFocus, sectionRule } from './line-parts.js';

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

type LineProps = { readonly line: Line };

function isSameLine(a: LineProps, b: LineProps): boolean {
  return areSame(a.line, b.line);
}

function lineText(style: keyof typeof textStyles) {
  const look = textStyles[style];
  return memo(
    ({ line }: LineProps) =>
      createElement(textElement, { style: look, internal_transform: lineCarrier(line) }, plainText(line)),
    isSameLine,
  );
}

/** A computed line as one text, as wide as it is. */
export const Spans = lineText('fitting');

/** A computed line as one row of the screen, as wide as the surrounding box. */
export const Row = lineText('row');

/** Computed lines below each other. */
export function Rows({ lines }: { readonly lines: readonly Line[] }) {
  return lines.map((line, row) => <Row key={row} line={line} />);
}

type ParagraphProps = TextProps & { readonly children: string; readonly width: number; readonly rows?: number };

/** Text on as many rows as it needs, at most `rows` of `width` columns, wrapped by the rules of the rest of the window. */
export function Paragraph({ children, width, rows = 100, ...look }: ParagraphProps) {
  return (
    <Box flexDirection="column" flexShrink={0}>
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

type SectionProps = {
  readonly title: string;
  /** A text at the right end of the heading. */
  readonly right?: Line;
  readonly width: number;
  /** Whether keys act on it. */
  readonly isFocused?: boolean;
  readonly children?: ReactNode;
};

/** A heading on a thin rule, and what it is about. */
export function Section({ title, right = [], width, isFocused = false, children }: SectionProps) {
  const rule = sectionRule(title, right, width);
  return (
    <Box flexDirection="column" width={width} flexShrink={0}>
      <Row line={isFocused ? inFocus(rule) : rule} />
      {children}
    </Box>
  );
}
