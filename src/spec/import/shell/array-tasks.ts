import type { Launch } from './launch-site.js';
import type { Text } from './script-values.js';

/**
 * A launch of a task whose number is called `task`. A program that gets nothing from the number by its arguments reads it from its
 * environment, where it is then set.
 */
export function boundWords(variable: string): (launch: Launch) => Launch {
  return (launch) => {
    const renamed = (text: Text): Text => ({
      ...text,
      pieces:
        text.pieces?.map((piece) =>
          typeof piece === 'object' && 'parameter' in piece && piece.parameter === variable
            ? { ...piece, parameter: 'task' }
            : piece,
        ) ?? null,
    });
    const bindings = new Map([...launch.bindings].map(([name, value]) => [name === variable ? 'task' : name, value]));
    const number = launch.bindings.get(variable)!;
    const isUsed = [...launch.words, ...launch.env.values()].some(
      ({ pieces }) => pieces === null || pieces.some((piece) => typeof piece === 'object' && 'parameter' in piece),
    );
    const env = new Map([...launch.env].map(([name, text]) => [name, renamed(text)] as const));
    if (!isUsed) env.set(variable, { text: number, pieces: [{ parameter: 'task', text: number }] });
    return {
      ...launch,
      words: launch.words.map(renamed),
      env,
      bindings,
      loops: launch.loops.map((name) => (name === variable ? 'task' : name)),
    };
  };
}
