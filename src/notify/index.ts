export { createNotifier, NOTIFY_DUTY_MS, type Notifier, type NotifyDeps } from './notifier.js';
export { noticeOf, pageAt, type Places } from './notice.js';
export { postNotice, postTo } from './send.js';
