{{- define "towline.name" -}}
{{- printf "%s-%s" .Release.Name "towline" | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "towline.labels" -}}
app.kubernetes.io/name: towline
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "towline.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{/* What every container of ours has: settings, secrets as files, and a folder of its own. */}}
{{- define "towline.container" -}}
image: {{ include "towline.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
envFrom:
  - configMapRef: { name: {{ .SettingsName | default (include "towline.name" .) }} }
volumeMounts:
  - { name: secrets, mountPath: /run/secrets/towline, readOnly: true }
  - { name: home, mountPath: /var/lib/towline }
  - { name: tmp, mountPath: /tmp }
  {{- with .Values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* Where a process finds the secrets that it alone needs. */}}
{{- define "towline.secretFiles" -}}
{{- range . }}
- { name: {{ . }}_FILE, value: /run/secrets/towline/{{ . }} }
{{- end }}
{{- end -}}

{{/* A list: the root, and the keys of the Secret that only this process needs. */}}
{{- define "towline.pod" -}}
{{- $ownKeys := index . 1 }}
{{- with index . 0 }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
volumes:
  - name: secrets
    secret:
      secretName: {{ .Values.secret.name }}
      # Towline refuses a secret that everyone may read.
      defaultMode: 0440
      items:
        {{- range concat .Values.secret.keys $ownKeys }}
        - { key: {{ . }}, path: {{ . }} }
        {{- end }}
  - name: home
    emptyDir: {}
  - name: tmp
    emptyDir: {}
  {{- with .Values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "towline.annotations" -}}
# A changed setting replaces the processes. A changed Secret does not: it is read again.
checksum/settings: {{ toJson .Values.settings | sha256sum }}
{{- with .Values.podAnnotations }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* As long as a process may take to end: SERVICE_TIMEOUT, and twenty seconds more; and the five of preStop. */}}
{{- define "towline.grace" -}}
{{- max 60 (add 25 (int (ceil (float64 (.Values.settings.SERVICE_TIMEOUT | default "30"))))) -}}
{{- end -}}

{{/* A list: the root, and the component. */}}
{{- define "towline.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "towline.labels" (index . 0) | nindent 8 }}
        app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}
