"""The reproduction of the papers on MVG and IMGM: what the rules of the workflow call."""
