/** "MAY ignore the presence of a byte order mark rather than treating it as an error" (RFC 8259, 8.1). */
const MARK = '\ufeff';

/** JSON text as a parser takes it: without the mark that some senders and editors put in front. */
export const withoutMark = (text: string): string => (text.startsWith(MARK) ? text.slice(MARK.length) : text);
