import { Box } from 'ink';
import type { ReactNode } from 'react';
import { useExtent, useReported } from '../model/use-model.js';
import type { Size } from '../surface/surface.js';
import { type Line, span } from '../surface/span.js';
import { Section } from './section.js';
import { Rows } from './text.js';

/** `top`: the first visible row. `isFocused`: whether keys scroll it. */
type PaneProps = Size & { readonly title: string; readonly top: number; readonly isFocused: boolean };

/** A section whose contents may be longer than its room. Its heading says how many rows are below. */
export function ScrollPane({ title, top, width, height, isFocused, children }: PaneProps & { children: ReactNode }) {
  const page = height - 1;
  const { box, length } = useExtent(page, isFocused);
  return (
    <Section title={title} right={belowWords(length - top - page)} {...{ width, isFocused }}>
      <Box height={page} flexDirection="column" overflow="hidden">
        <Box ref={box} width={width} flexDirection="column" flexShrink={0} marginTop={-top}>
          {children}
        </Box>
      </Box>
    </Section>
  );
}

/** The same for a long text, of which only the visible lines are rendered. */
export function TextPane({ title, lines, top, width, height, isFocused }: PaneProps & { lines: readonly Line[] }) {
  const page = height - 1;
  useReported(isFocused ? { length: lines.length, page } : null);
  return (
    <Section title={title} right={belowWords(lines.length - top - page)} {...{ width, isFocused }}>
      <Box height={page} flexDirection="column" overflow="hidden">
        <Rows lines={lines.slice(top, top + page)} />
      </Box>
    </Section>
  );
}

function belowWords(below: number): Line {
  return below > 0 ? [span(`${below} below`, 'faint')] : [];
}
