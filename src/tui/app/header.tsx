import { Box } from 'ink';
import { LiveLine } from '../model/use-model.js';
import { headerLines, shortHeader } from './header-lines.js';

/** All rows of the header are painted without a commit, because each publication changes them. */
export function Header({ width }: { readonly width: number }) {
  return (
    <Box flexDirection="column" width={width} height={headerLines.length} flexShrink={0}>
      {headerLines.map((read) => (
        <LiveLine key={read.name} width={width} read={read} />
      ))}
    </Box>
  );
}

/** One row for a small screen. */
export function ShortHeader({ width }: { readonly width: number }) {
  return <LiveLine width={width} read={shortHeader} />;
}
