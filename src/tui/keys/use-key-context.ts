import { createContext, use } from 'react';
import { useModel } from '../model/use-model.js';
import type { KeyContext } from './key-context.js';

/** Where dialogs get what keys would know now, so that they show what their keys choose from. */
export const KeyContextSource = createContext<(() => KeyContext) | null>(null);

export function useKeyContext(): KeyContext {
  const context = use(KeyContextSource);
  // What keys know depends on everything that the window shows.
  useModel((model) => model);
  return context!();
}
