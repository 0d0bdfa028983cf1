import { isChild } from './parent.js';

/**
 * Resolves, with why, when this process is to end: by a signal, or because its parent is gone, in whichever way it went
 * (the system closes the channel even after a SIGKILL). A second signal ends it at once.
 */
export function askedToEnd(): Promise<string> {
  return new Promise((resolve) => {
    let asked = false;
    const ask = (why: string) => {
      if (asked) process.exit(130);
      asked = true;
      resolve(why);
    };
    if (!isChild()) {
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, ask);
      return;
    }
    process.on('SIGTERM', () => resolve('SIGTERM'));
    process.on('disconnect', () => resolve('its parent is gone'));
    // It may have gone before anybody listened: our modules take a while to load.
    if (!process.connected) resolve('its parent is gone');
    // A terminal sends these to all of its processes, but our parent ends us in its own order.
    for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
  });
}
