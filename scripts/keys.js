/** `npm run keys`: writes the table of keys into the README, from the table the window itself uses. */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const readme = join(root, 'README.md');
const { outputFiles } = await build({
  absWorkingDir: root,
  entryPoints: ['src/tui/key-map.ts'],
  bundle: true,
  platform: 'node',
  format: 'esm',
  write: false,
});
const source = `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`;
const { keyTableMarkdown } = await import(source);
const text = readFileSync(readme, 'utf8');
const marks = /(<!-- keys: begin[^>]*-->\n)[^]*?(<!-- keys: end -->)/;
if (!marks.test(text)) throw new Error('README.md has lost its marks <!-- keys: begin --> and <!-- keys: end -->.');
writeFileSync(
  readme,
  text.replace(marks, (_all, begin, end) => `${begin}\n${keyTableMarkdown()}\n\n${end}`),
);
