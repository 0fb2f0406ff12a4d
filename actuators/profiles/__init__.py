"""Register maps of devices, shipped as TOML files; a profile's bare name is its file's name here."""
