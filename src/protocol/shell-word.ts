const PLAIN = /^[\w.:/+-]+$/;

/** A value in a command that people paste into a shell: quoted, unless no shell would read anything into it. */
export const shellWord = (text: string): string =>
  PLAIN.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
