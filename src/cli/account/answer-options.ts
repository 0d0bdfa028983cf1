/** For every account command: where its secret answer goes. */
export const OUT = [
  '--out <file>',
  'write the answer to this new file, with mode 0600 (default: a new file in TOWLINE_HOME/account)',
] as const;

export const STDOUT = ['--stdout', 'print the answer instead of writing it to a file; it is secret'] as const;
