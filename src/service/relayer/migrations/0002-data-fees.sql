-- What of a swap's expected cost was for its data, beside gas, on networks that charge for it.
ALTER TABLE relays ADD COLUMN data_fee TEXT NOT NULL DEFAULT '0';
