const [QUOTE, BACKSLASH, COLON, COMMA] = [0x22, 0x5c, 0x3a, 0x2c];

interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * The bytes of an object's text without one member of its top level and one comma next to it; all of them where it has
 * no such member. Whoever calls has parsed the text already: this only finds places in it. The name is compared as it is
 * written, so another spelling of it (`\u0073ignature`) is another member.
 *
 * Undefined where the member is there twice.
 */
export function cutMember(raw: Uint8Array, name: string): readonly Uint8Array[] | undefined {
  const found = topLevelMembers(raw).filter(({ start }) => isNamed(raw, start, name));
  const [member, another] = found;
  if (member === undefined) return [raw];
  if (another !== undefined) return undefined;
  const isFirst = raw[member.start - 1] !== COMMA;
  const start = isFirst ? member.start : member.start - 1;
  const end = isFirst && raw[member.end] === COMMA ? member.end + 1 : member.end;
  return [raw.subarray(0, start), raw.subarray(end)];
}

/** From the opening quote of each name to the comma or brace behind its value. All structure of JSON is ASCII. */
function topLevelMembers(raw: Uint8Array): readonly Span[] {
  const members: Span[] = [];
  let depth = 0;
  let start: number | undefined;
  for (let at = 0; at < raw.length; at += 1) {
    const byte = raw[at];
    if (byte === QUOTE) {
      if (depth === 1) start ??= at;
      at = endOfString(raw, at);
    } else if (byte === 0x7b || byte === 0x5b) depth += 1;
    else if (byte === 0x7d || byte === 0x5d || (byte === COMMA && depth === 1)) {
      if (depth === 1 && start !== undefined) {
        members.push({ start, end: at });
        start = undefined;
      }
      if (byte !== COMMA) depth -= 1;
    }
  }
  return members;
}

function endOfString(raw: Uint8Array, opening: number): number {
  let at = opening + 1;
  while (at < raw.length && raw[at] !== QUOTE) at += raw[at] === BACKSLASH ? 2 : 1;
  return at;
}

function isNamed(raw: Uint8Array, start: number, name: string): boolean {
  const written = Buffer.from(`"${name}"`);
  return (
    Buffer.from(raw.subarray(start, start + written.length)).equals(written) && raw[start + written.length] === COLON
  );
}
