-- Which alerts a channel is sent: by their severities, and by codes of its own.
ALTER TABLE alert_channels ADD COLUMN severities TEXT NOT NULL DEFAULT '';
UPDATE alert_channels SET severities =
  CASE minimum WHEN 'critical' THEN 'critical' WHEN 'warning' THEN 'warning critical' ELSE 'info warning critical' END;
ALTER TABLE alert_channels DROP COLUMN minimum;

-- The next start writes them down for each channel.
CREATE TABLE alert_channel_codes_off (
  channel TEXT NOT NULL REFERENCES alert_channels (name) ON DELETE CASCADE,
  code TEXT NOT NULL,
  PRIMARY KEY (channel, code)
) STRICT, WITHOUT ROWID;
INSERT INTO alert_channel_codes_off SELECT name, code FROM alert_channels, alert_codes_off;
DROP TABLE alert_codes_off;
