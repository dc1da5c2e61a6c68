/** Conversations, and how they are written for a model. */
export type Message = { readonly role: 'system' | 'user' | 'assistant'; readonly content: string };

/** A part of a conversation as text. `isAnswer`: whether the assistant says it, with what ends it. */
export type Piece = { readonly text: string; readonly isAnswer: boolean };

export type Renderer = {
  readonly name: string;
  /** The conversation up to the point where the assistant speaks. */
  readonly prompt: (messages: readonly Message[]) => string;
  /** A whole conversation. @param onlyLast Whether no other answer is wanted than the last; default false. */
  readonly pieces: (messages: readonly Message[], onlyLast?: boolean) => Piece[];
  /** What ends an answer. */
  readonly stop: readonly string[];
};
