/** What stands for a secret that was taken out. */
export const MASK = '***';

type Shape = { pattern: RegExp; instead: string };

const KEY_BLOCK = /-----BEGIN ([A-Z0-9 ]*PRIVATE KEY)-----[\s\S]*?(?:-----END \1-----|$)/g;
/** Names that are a secret's in any program. Not `secret` or `token` alone, which are everyday words of language models. */
const NAMED =
  '((?:api|access|private|secret)[-_]?key|client[-_]?secret|passw(?:or)?d|passphrase|(?:access|api|auth|bearer|refresh)[-_]?token)';
const ASSIGNED = new RegExp(`${NAMED}(["']?\\s*[=:]\\s*["']?)[^\\s"',;&]{8,}`, 'gi');
const QUOTED = new RegExp(`${NAMED}(["']?\\s*[=:]\\s*)(["'])(?:(?!\\3)[^\\n]){8,}\\3`, 'gi');

/** Secrets that can be told by their look, whoever holds them. */
const shapes: readonly Shape[] = [
  { pattern: KEY_BLOCK, instead: MASK },
  { pattern: /(:\/\/[^\s/@:'"]*:)[^\s/@'"]+(?=@)/g, instead: `$1${MASK}` },
  { pattern: /(:\/\/)[^\s/@:'"]{20,}(?=@)/g, instead: `$1${MASK}` },
  { pattern: /\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, instead: `$1 ${MASK}` },
  { pattern: /(?<![\w-])sk-(?=[\w-]*\d)[\w-]{20,}/g, instead: MASK },
  { pattern: /(?<!\w)(?:gh[opsur]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,})/g, instead: MASK },
  {
    pattern: /(?<!\w)(?:hf_[A-Za-z0-9]{20,}|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{35}|xox[a-z]-[\w-]{10,})/g,
    instead: MASK,
  },
  { pattern: /(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]*)?/g, instead: MASK },
  { pattern: QUOTED, instead: `$1$2$3${MASK}$3` },
  { pattern: ASSIGNED, instead: `$1$2${MASK}` },
];

/** No shape can be in a text that has none of these; nearly all texts have none. */
const hint =
  /-----BEGIN|:\/\/|bearer|basic|sk-|gh[opsur]_|github_|glpat|hf_|AKIA|ASIA|AIza|xox|eyJ|key|passw|passphrase|secret|token/i;

/** The text without what looks like a secret: keys of known services, passwords in addresses, private keys. */
export function withoutShapes(text: string): string {
  if (!hint.test(text)) return text;
  return shapes.reduce((rest, { pattern, instead }) => rest.replace(pattern, instead), text);
}
