/** The pages of the documentation, for agents: whole ones if they are short, else section by section. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../base/user-error.js';
import { didYouMean } from '../../text/nearest.js';
import { fittedText, MOST_BYTES } from './fitted.js';

/** Names of the pages, with their titles. @param folder `docs/` of the package. */
export function docTitles(folder: string): { readonly page: string; readonly title: string }[] {
  return pagesIn(folder).map((page) => ({ page, title: /^# (.*)/m.exec(textOf(folder, page))?.[1] ?? page }));
}

/**
 * A page or one of its sections, as Markdown. Of a page that is too long the beginning, and the names of its sections.
 *
 * @throws {UserError} When there is none of that name, with the nearest name.
 */
export function docText(folder: string, page: string, section?: string): string {
  if (!pagesIn(folder).includes(page)) throw unknown('page', page, pagesIn(folder));
  const text = textOf(folder, page);
  const [beginning = '', ...sections] = sectionsOf(text);
  const named = new Map(sections.map((each) => [nameOf(each), each]));
  if (section !== undefined) {
    if (!named.has(section)) throw unknown('section', section, [...named.keys()]);
    return fittedText(named.get(section)!, 'first', `The file is docs/${page}.md.`);
  }
  if (Buffer.byteLength(text) <= MOST_BYTES) return text;
  const names = [...named.keys()].map((name) => `- ${name}`);
  return fittedText(
    [beginning.trimEnd(), '', 'Sections, which are read by their names:', ...names].join('\n'),
    'first',
    'Read a section.',
  );
}

function pagesIn(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => (name.endsWith('.md') ? name.slice(0, -'.md'.length) : []));
}

function textOf(folder: string, page: string): string {
  return readFileSync(join(folder, `${page}.md`), 'utf8');
}

/** What stands above the first heading of a section, then the sections. */
function sectionsOf(text: string): string[] {
  return text.split(/^(?=## )/m);
}

/** The name of a section as links write it: `Where metrics come from` is `where-metrics-come-from`. */
function nameOf(section: string): string {
  const heading = section.slice(0, section.indexOf('\n')).replace(/^## /, '');
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} -]/gu, '')
    .trim()
    .replaceAll(' ', '-');
}

function unknown(what: string, name: string, known: readonly string[]): UserError {
  return new UserError(`The documentation has no ${what} \`${name}\`.`, didYouMean(name, known));
}
