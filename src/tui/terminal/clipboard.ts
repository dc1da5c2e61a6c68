/** Maximum number of characters to copy: xterm and tmux read about 100,000 bytes of base64 at once. */
export const mostCopied = 50_000;

/**
 * The codes that copy a text to the clipboard of the user's own terminal, also over ssh (OSC 52). tmux passes it on if
 * `set-clipboard` is on; a terminal that does not support it shows nothing.
 */
export function clipboardCodes(text: string): string {
  return `\u001b]52;c;${Buffer.from(text, 'utf8').toString('base64')}\u0007`;
}
