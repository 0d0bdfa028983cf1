/** What a child process tells `towline up` over its IPC channel. */
export type ChildMessage =
  | { readonly kind: 'ready'; readonly url?: string }
  /** It cannot start, for a reason that a person can do something about. */
  | { readonly kind: 'refused'; readonly sentence: string };

/** Nothing happens where there is no parent that listens. */
export function tellParent(message: ChildMessage): void {
  if (process.connected) process.send?.(message);
}

/** Whether `towline up` started this process, which it may have survived since. */
export function isChild(): boolean {
  return process.send !== undefined;
}
