/** Names seen in each object that is open; null for a list. */
type Open = (Set<string> | null)[];

/**
 * The first name that an object in this JSON text has twice, or null.
 *
 * `JSON.parse` silently keeps the last of them, and other programs keep the first: a file with such a name means
 * different things to different readers. The text must be valid JSON.
 */
export function repeatedName(json: string): string | null {
  const open: Open = [];
  for (let at = 0; at < json.length; at++) {
    if (json[at] !== '"') {
      follow(json[at]!, open);
      continue;
    }
    const end = endOfText(json, at);
    if (isName(json, end)) {
      const name = JSON.parse(json.slice(at, end)) as string;
      const names = open[open.length - 1];
      if (names?.has(name) === true) return name;
      names?.add(name);
    }
    at = end - 1;
  }
  return null;
}

function follow(sign: string, open: Open): void {
  if (sign === '{') open.push(new Set());
  else if (sign === '[') open.push(null);
  else if (sign === '}' || sign === ']') open.pop();
}

/**
 * Index after the closing quote of the text that begins at `start`. A quote after an odd number of backslashes does
 * not close it.
 */
function endOfText(json: string, start: number): number {
  for (let quote = json.indexOf('"', start + 1); ; quote = json.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (json[quote - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return quote + 1;
  }
}

/** Whether the next character that is not white space is a colon. */
function isName(json: string, from: number): boolean {
  let at = from;
  while (/^\s$/.test(json[at] ?? '')) at++;
  return json[at] === ':';
}
