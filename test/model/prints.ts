/** 64-bit prints of keys in an open table. */
export class Prints {
  size = 0;
  private readonly mask: number;
  private readonly high: Uint32Array;
  private readonly low: Uint32Array;
  private readonly index: Int32Array;

  constructor(most: number) {
    const slots = 2 ** Math.ceil(Math.log2((most + 2) * 1.6));
    this.mask = slots - 1;
    this.high = new Uint32Array(slots);
    this.low = new Uint32Array(slots);
    this.index = new Int32Array(slots);
  }

  /** Its number: the next one, if it is new. */
  add(key: string): number {
    let a = 0xdeadbeef;
    let b = 0x41c6ce57;
    for (let at = 0; at < key.length; at += 1) {
      const code = key.charCodeAt(at);
      a = Math.imul(a ^ code, 2654435761);
      b = Math.imul(b ^ code, 1597334677);
    }
    a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
    b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
    const [high, low] = [a >>> 0 || 1, b >>> 0];
    for (let slot = low & this.mask; ; slot = (slot + 1) & this.mask) {
      if (this.high[slot] === 0) {
        this.high[slot] = high;
        this.low[slot] = low;
        this.index[slot] = this.size;
        this.size += 1;
        return this.size - 1;
      }
      if (this.high[slot] === high && this.low[slot] === low) return this.index[slot] ?? 0;
    }
  }
}
