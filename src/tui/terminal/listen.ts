import { InputDecoder } from './input-decoder.js';
import type { InputEvent } from './input-event.js';

/**
 * How long a lone escape character may be the start of a sequence, in ms: longer than a slow line needs, shorter than users notice.
 */
const patience = 50;

/**
 * Reads user input from a terminal in raw mode.
 *
 * Does not use Ink's input, which takes each read for one key and so turns a paste, a mouse report or a sequence split over two
 * reads into keys that nobody pressed.
 *
 * @returns A function that stops reading.
 */
export function listen(stdin: NodeJS.ReadStream, tell: (event: InputEvent) => void): () => void {
  const decoder = new InputDecoder();
  let timer: NodeJS.Timeout | null = null;
  const hear = (text: string): void => {
    if (timer !== null) clearTimeout(timer);
    decoder.push(text).forEach(tell);
    timer = decoder.isWaiting ? setTimeout(() => decoder.settle().forEach(tell), patience) : null;
  };
  // A read may split a character.
  stdin.setEncoding('utf8');
  stdin.on('data', hear);
  stdin.ref();
  stdin.resume();
  return () => {
    if (timer !== null) clearTimeout(timer);
    stdin.off('data', hear);
    stdin.pause();
    stdin.unref();
  };
}
