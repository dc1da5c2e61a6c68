/** How parameters are passed to the program, and the corresponding macro in a sweep file. */
export const argumentStyles = {
  equals: '${args}',
  space: '${args_no_equals}',
  flags: '${args_no_boolean_flags}',
  words: '${args_words}',
  plain: '${args_no_hyphens}',
  hydra: '${args_hydra}',
  'hydra-append': '${args_append_hydra}',
  'hydra-override': '${args_override_hydra}',
  json: '${args_json}',
} as const;
export type ArgumentStyle = keyof typeof argumentStyles;
