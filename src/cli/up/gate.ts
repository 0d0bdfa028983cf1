/** A wait that can be opened, refused, or closed again. */
export interface Gate {
  /** Resolves when it is open. */
  pass(): Promise<void>;
  open(): void;
  refuse(error: unknown): void;
  close(): void;
}

export function createGate(): Gate {
  let open: () => void;
  let refuse: (error: unknown) => void;
  let passing: Promise<void>;
  let isPending: boolean;
  const close = () => {
    if (isPending) return;
    isPending = true;
    passing = new Promise<void>((resolve, reject) => {
      open = resolve;
      refuse = reject;
    });
    // Nobody may be waiting.
    passing.catch(() => undefined);
  };
  isPending = false;
  close();
  return {
    pass: () => passing,
    open() {
      isPending = false;
      open();
    },
    refuse(error) {
      isPending = false;
      refuse(error);
    },
    close,
  };
}
