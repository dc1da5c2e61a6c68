import { type McpServer, ResourceTemplate, type Variables } from '@modelcontextprotocol/server';
import { keptSweepText } from '../../files/sweep-text.js';
import { sweepsOnDisk } from '../../files/sweep-folders.js';
import { sweepDirectory } from '../sweep-directory.js';
import { errorAnswer, Refused, textOf } from './answer.js';
import type { RunCommand } from './command.js';
import { docText, docTitles } from './doc-pages.js';
import { fittedText } from './fitted.js';

/** Where resources are found. `directory`: of the runs. `docs`: folder of the documentation. */
export type Places = { readonly directory: string; readonly docs: string; readonly run: RunCommand };

/** Lines of a log in its resource. */
const LOG_LINES = 400;

/** Lets a client read logs, reports, sweep files and the documentation. */
export function addResources(server: McpServer, { directory, docs, run }: Places): void {
  const printed = async (...words: string[]) => textOf(await run(words));
  const add = (name: string, template: ResourceTemplate, { about, type, read }: Resource) =>
    server.registerResource(name, template, { description: about, mimeType: type }, async (uri, variables) => ({
      contents: [{ uri: uri.href, mimeType: type, text: await readable(() => read(namesIn(variables))) }],
    }));
  const ofSweeps = (what: string) => () => ({
    resources: sweepsOnDisk(directory).map((sweep) => ({
      uri: `memrl://sweeps/${encodeURIComponent(sweep)}/${what}`,
      name: `${what} of ${sweep}`,
    })),
  });
  add('report', new ResourceTemplate('memrl://sweeps/{sweep}/report', { list: ofSweeps('report') }), {
    ...{ about: 'the summary tables of a sweep', type: 'text/plain' },
    read: async ([sweep]) => fittedText(await printed('report', '--', sweep!), 'first', '`best` and `ls` have parts.'),
  });
  add('file', new ResourceTemplate('memrl://sweeps/{sweep}/file', { list: ofSweeps('file') }), {
    ...{ about: 'the sweep file as it was launched last', type: 'application/yaml' },
    read: ([sweep]) => fittedText(sweepText(directory, sweep!), 'first', 'The rest is in the file.'),
  });
  add('log', new ResourceTemplate('memrl://runs/{sweep}/{run}/log', { list: undefined }), {
    ...{ about: 'the end of the output of a run', type: 'text/plain' },
    read: async ([sweep, name]) => {
      const text = await printed('logs', `--lines=${LOG_LINES}`, '--', `${sweep}/${name}`);
      return fittedText(text, 'last', 'The tool `logs` finds lines with `grep`.');
    },
  });
  add('docs', new ResourceTemplate('memrl://docs/{page}', { list: () => ({ resources: docPages(docs) }) }), {
    ...{ about: 'a page of the documentation, or of a long one its sections', type: 'text/markdown' },
    read: ([page]) => docText(docs, page!),
  });
  add('section', new ResourceTemplate('memrl://docs/{page}/{section}', { list: undefined }), {
    ...{ about: 'a section of a page of the documentation', type: 'text/markdown' },
    read: ([page, section]) => docText(docs, page!, section),
  });
}

type Resource = {
  readonly about: string;
  readonly type: string;
  readonly read: (names: readonly string[]) => string | Promise<string>;
};

/** The names in an address, in their order. */
function namesIn(variables: Variables): string[] {
  return Object.values(variables).map((each) => decodeURIComponent([each].flat().join(',')));
}

/** @throws {Error} With the problem and what to do in its message, which the client shows. */
async function readable(read: () => string | Promise<string>): Promise<string> {
  try {
    return await read();
  } catch (error) {
    throw new Error(errorAnswer(error).text, { cause: error });
  }
}

function sweepText(directory: string, sweep: string): string {
  const kept = keptSweepText(sweepDirectory(directory, sweep));
  if (kept !== null) return kept.text;
  throw new Refused({ code: 'refused', message: `The file of ${sweep} was not kept.`, fix: 'Launch it again.' });
}

function docPages(folder: string): { uri: string; name: string }[] {
  return docTitles(folder).map(({ page, title }) => ({ uri: `memrl://docs/${page}`, name: title }));
}
