/** Characters that fit into what a terminal takes at once: xterm and tmux read about 100,000 bytes of base64. */
export const mostCopied = 50_000;

/**
 * The codes that put a text on the clipboard of the person's own terminal, also over ssh (OSC 52).
 * tmux passes it on where `set-clipboard` is on; a terminal that does not know it shows nothing.
 */
export function clipboardCodes(text: string): string {
  return `\u001b]52;c;${Buffer.from(text, 'utf8').toString('base64')}\u0007`;
}
