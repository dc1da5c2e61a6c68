import * as z from 'zod';
import { docText, docTitles } from './doc-pages.js';
import { jsonOf } from './fitted.js';
import type { Tool } from './verb-tool.js';

/** A tool that reads the documentation, as many clients do not let a model read resources. @param folder `docs/` of the package. */
export function docsTool(folder: string): Tool {
  return {
    name: 'docs',
    about:
      'Reads the documentation of memrl-tui: `sweep-file` is what a sweep file may say, `commands` the commands and queries. Without a page: their names and titles. Of a long page the names of its sections.',
    input: z.strictObject({
      page: z.string().optional().describe('name of a page: sweep-file'),
      section: z.string().optional().describe('name of a section of it'),
    }),
    acts: null,
    call: (given) => {
      const { page, section } = given as { page?: string; section?: string };
      const text = page === undefined ? jsonOf({ pages: docTitles(folder) }) : docText(folder, page, section);
      return Promise.resolve({ text });
    },
  };
}
