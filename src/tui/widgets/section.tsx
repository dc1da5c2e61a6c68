import { Box } from 'ink';
import type { ReactNode } from 'react';
import type { Line } from '../surface/span.js';
import { inFocus, sectionRule } from './line-parts.js';
import { Row } from './text.js';

type Props = {
  readonly title: string;
  /** A text at the right end of the heading. */
  readonly right?: Line;
  readonly width: number;
  /** Whether keys act on it. */
  readonly isFocused?: boolean;
  readonly children?: ReactNode;
};

/** A heading on a thin rule, and what it is about. */
export function Section({ title, right = [], width, isFocused = false, children }: Props) {
  const rule = sectionRule(title, right, width);
  return (
    <Box flexDirection="column" width={width} flexShrink={0}>
      <Row line={isFocused ? inFocus(rule) : rule} />
      {children}
    </Box>
  );
}
